"""The identifiers of the guides cardan implements, by where a reader of theirs would ask for them."""

_TEXT = {
    "Joint": """
        nq nv calc calc_aba createData hasConfigurationLimit hasConfigurationLimitInTangent classname
        shortname idx_q idx_v setIndexes S M v c U Dinv UDinv matrix joint_q joint_v bias_acceleration
        configuration_derivative_to_velocity configuration_derivative_to_velocity_adjoint
        configuration_derivative_to_velocity_jacobian constraint_wrench_subspace effort_bounds
        global_coordinates has_fixed_subspaces isfloating joint_spatial_acceleration joint_torque
        joint_transform joint_twist local_coordinates motion_subspace normalize_configuration num_constraints
        num_positions num_velocities position_bounds principal_value rand_configuration velocity_bounds
        velocity_to_configuration_derivative velocity_to_configuration_derivative_jacobian zero_configuration
        predecessor successor getNrOfPosCoords getNrOfDOFs getTransform getMotionSubspaceVector
        getPosCoordsOffset getPositionDerivativeVelocityJacobian getFirstAttachedLink getRestTransform
    """,
    "package": """
        JointModel JointData JointModelBase JointModelRevolute JointModelRX JointModelRZ JointModelPX
        JointModelRevoluteUnaligned JointModelPrismaticUnaligned JointModelPrismatic JointModelRUBX
        JointModelRevoluteUnboundedUnaligned JointModelSpherical JointModelSphericalZYX JointModelFreeFlyer
        JointModelPlanar JointModelTranslation JointModelUniversal JointModelHX JointModelHelicalUnaligned
        JointModelEllipsoid JointModelComposite JointModelMimic JointMotionSubspace JointMotionSubspaceTpl
        Motion SE3 Force ModelGraph Graph BodyFrame addVertex addEdge buildModel JointLimits
        ModelConfigurationConverter ConfigurationConverter TangentConverter randomConfiguration neutral
        integrate difference interpolate distance isSameConfiguration dIntegrate dIntegrateTransport
        dDifference normalize finiteDiffSdot rnea aba crba appendModel buildReducedModel addJoint Model Data
        saveToText saveToXML saveToBinary saveToString cast casadi autodiff codegen StdVec_Bool
        computeABADerivatives nle joint_calc reverse ReverseJoint se3Action se3ActionInverse skew exp3 log3
        exp6 log6 Jexp3 Jlog3 Jexp6 Jlog6 squaredDistance squaredDistanceSum randomConfiguration
        loadReferenceConfigurations JointModelRevoluteUnbounded findCommonAncestor removeJoint transferToModel
        copyModel Fixed Joint JointType Planar Prismatic QuaternionFloating QuaternionSpherical Revolute
        SPQuatFloating SinCosRevolute bias_acceleration configuration_derivative_to_velocity
        configuration_derivative_to_velocity_adjoint configuration_derivative_to_velocity_jacobian
        constraint_wrench_subspace effort_bounds global_coordinates has_fixed_subspaces isfloating
        joint_spatial_acceleration joint_torque joint_transform joint_twist local_coordinates motion_subspace
        normalize_configuration num_constraints num_positions num_velocities position_bounds principal_value
        rand_configuration velocity_bounds velocity_to_configuration_derivative
        velocity_to_configuration_derivative_jacobian zero_configuration Bounds Transform3D Twist MRP
        Mechanism MechanismState attach KinDynComputations IJoint FixedJoint RevoluteJoint PrismaticJoint
        RevoluteSO2Joint SphericalJoint Traversal computeFullTreeTraversal getNrOfLinks getNrOfJoints
        getTransform getMotionSubspaceVector getPosCoordsOffset getDOFsOffset getNrOfPosCoords getNrOfDOFs
        getPositionDerivativeVelocityJacobian getFirstAttachedLink getSecondAttachedLink getRestTransform
        ModelLoader ModelExporter setFrameVelocityRepresentation MIXED_REPRESENTATION
        BODY_FIXED_REPRESENTATION INERTIAL_FIXED_REPRESENTATION getRelativeJacobian
        getRelativeJacobianExplicit getFreeFloatingMassMatrix getFrameFreeFloatingJacobian
        getCentroidalTotalMomentum getLinearAngularMomentum getLinearAngularMomentumJacobian getFrameBiasAcc
        getCenterOfMassBiasAcc createReducedModel getRelativeTransform getRelativeVel setFloatingBase
        getFrameVel getFrameAcc LinkIndex JointIndex wedge vee cross ModelBuilder State Control eval_fk
        eval_ik eval_jacobian eval_mass_matrix SolverMuJoCo SolverFeatherstone SolverXPBD SolverSemiImplicit
        selection ArticulationView JointDofConfig PRISMATIC REVOLUTE BALL FIXED FREE DISTANCE D6 CABLE add_usd
        collide transform quat_from_axis_angle replicate notify_model_changed JointTargetMode Contacts
        eval_inverse_dynamics_force
    """,
    "Mechanism": """
        addVertex addBody addEdge addJoint addFrame buildModel appendGraph fixJoint lockJoints edges vertices
        joints bodies prefixNames reverse getNrOfLinks getNrOfJoints getTransform getMotionSubspaceVector
        getRestTransform computeFullTreeTraversal getLinkIndex getJointIndex getLinkName
        addAdditionalFrameToLink getFrameIndex createReducedModel setDefaultBaseLink
    """,
    "MotionSubspace": """
        matrix se3Action se3ActionInverse actInv transpose nv T motionAction
    """,
    "WorldBuilder": """
        add_link add_body add_shape_box add_shape_sphere add_joint_revolute add_joint_prismatic add_joint_ball
        add_joint_fixed add_joint_free add_joint_distance add_joint_d6 add_joint_cable add_articulation
        joint_q joint_qd finalize add_usd add_urdf add_mjcf add_builder replicate add_ground_plane
        collapse_fixed_joints add_shape_collision_filter_pair add_world begin_world joint_target
        joint_armature JointDofConfig
    """,
    "Model": """
        state control joint_q joint_qd joint_q_start joint_qd_start joint_type joint_axis joint_limit_lower
        joint_limit_upper joint_dof_dim joint_X_p joint_X_c joint_count collide joint_armature joint_friction
        joint_effort_limit joint_velocity_limit joint_target_ke joint_parent joint_child body_mass
        articulation_start
    """,
    "World": """
        joint_q_start joint_qd_start joint_type joint_axis joint_limit_lower joint_limit_upper joint_dof_dim
        joint_X_p joint_X_c joint_count collide state control joint_armature articulation_count world_count
    """,
    "State": """
        joint_q joint_qd body_q body_qd body_f clear_forces
    """,
    "Control": """
        joint_f joint_target joint_target_pos joint_target_vel
    """,
    "View": """
        get_dof_positions set_dof_positions get_dof_velocities set_dof_velocities get_root_transforms
        set_root_transforms get_root_velocities set_root_velocities get_link_transforms get_link_velocities
        get_dof_forces set_dof_forces get_attribute set_attribute eval_fk joint_names link_names count
        joint_count dof_names get_model_articulation_mask
    """,
}
WORDS = {place: words.split() for place, words in _TEXT.items()}
